// Preloaded with --import: the process's clock shows TIME_FROM at the real instant TIME_SINCE (milliseconds), and runs
// TIME_SCALE times as fast, timers too.
const from = Date.parse(process.env.TIME_FROM);
const since = Number(process.env.TIME_SINCE);
const scale = Number(process.env.TIME_SCALE ?? 1);
const real = Date.now.bind(Date);
const shifted = () => Math.floor(from + (real() - since) * scale);

const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(shifted());
    else super(...args);
  }
  static now() {
    return shifted();
  }
};

const { setTimeout: after } = globalThis;
if (scale !== 1) globalThis.setTimeout = (callback, ms = 0, ...args) => after(callback, ms / scale, ...args);
