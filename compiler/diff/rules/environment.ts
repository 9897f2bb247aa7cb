import { names } from "./names.js";

/** `env.required`: the server refuses to start without these. */
export const requiredNames = names({
  noun: "environment variable",
  added: "risky",
  gained: "is now required at startup",
  removed: "compatible",
  lost: "is no longer required",
});

/** `env.read`: every name that project code reads. */
export const readNames = names({
  noun: "environment variable",
  added: "risky",
  gained: "is now read",
  removed: "compatible",
  lost: "is no longer read",
});
