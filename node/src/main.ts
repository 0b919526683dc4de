/** One process for each worker; a single worker needs no parent. */

import cluster from "node:cluster";

import { type Config, ConfigError, loadConfig } from "./config.ts";
import { serve } from "./server.ts";
import { supervise } from "./supervisor.ts";

function load(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

const config = load();
if (cluster.isPrimary && config.workers > 1) supervise(config);
else await serve(config);
