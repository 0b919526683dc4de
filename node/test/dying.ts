/** A supervisor whose workers listen and then die. */

import cluster from "node:cluster";
import { createServer } from "node:http";

import { loadConfig } from "../src/config.ts";
import { supervise } from "../src/supervisor.ts";

if (cluster.isPrimary) supervise(loadConfig({ WORKERS: "2" }));
else createServer().listen(0, () => setTimeout(() => process.exit(3), 50));
