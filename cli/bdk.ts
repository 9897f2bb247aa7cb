#!/usr/bin/env node
import { main } from "./index.js";

const code = await main(process.argv.slice(2));
// Every write has been awaited. Exit by hand: a helper process or a socket kept alive must not hold the prompt.
process.exit(code);
