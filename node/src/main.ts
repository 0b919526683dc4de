/** One process for each worker; a single worker needs no parent. */

import cluster from "node:cluster";

import { loadConfig } from "./config.ts";
import { serve } from "./server.ts";
import { supervise } from "./supervisor.ts";

const config = loadConfig(process.env);
if (cluster.isPrimary && config.WORKERS > 1) supervise(config);
else await serve(config);
