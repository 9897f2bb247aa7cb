// Preloaded with --import: every listing of a folder comes in an order drawn from SHUFFLE_SEED, as another disk might give it.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

let state = Number(process.env.SHUFFLE_SEED);

/** 0 up to 1; a linear congruential generator is random enough to disorder lists. */
function random() {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 2_147_483_648;
}

function shuffled(list) {
  const from = [...list];
  const to = [];
  while (from.length > 0) to.push(...from.splice(Math.floor(random() * from.length), 1));
  return to;
}

const { readdirSync, readdir } = fs;
const { readdir: readdirAsync } = fs.promises;
fs.readdirSync = (...args) => shuffled(readdirSync(...args));
fs.promises.readdir = async (...args) => shuffled(await readdirAsync(...args));
fs.readdir = (...args) => {
  const done = args.pop();
  readdir(...args, (error, names) => done(error, names && shuffled(names)));
};
syncBuiltinESMExports();
