/** Connections: opened, handed out, reset and thrown away. */

import type { FastifyBaseLogger } from "fastify";
import pg from "pg";

import type { Config } from "./config.ts";
import { Unavailable } from "./errors.ts";
import { time } from "./models.ts";
import { type QueryName, SQL } from "./queries.ts";

const ACQUIRE_TIMEOUT_MS = 1500;
const STATEMENT_TIMEOUT_MS = 2000;
const IDLE_TIMEOUT_MS = 10 * 60_000;
const MAX_LIFETIME_S = 30 * 60;

/**
 * DISCARD ALL without DEALLOCATE ALL: node-postgres cannot be told that its prepared statements are gone.
 * One message, one round trip.
 */
const RESET =
  "CLOSE ALL; UNLISTEN *; RESET ALL; SELECT pg_advisory_unlock_all(); DISCARD SEQUENCES; DISCARD TEMP";

/** How values are read: node-postgres' way, but a moment becomes the text that the contract wants. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, time);

type Statements = Readonly<Record<QueryName, { readonly name?: string; readonly text: string }>>;

const names = Object.keys(SQL) as QueryName[];
/** Made once, as node-postgres copies a statement property by property each time; a name makes it prepare on first use. */
const PREPARED = Object.fromEntries(names.map((name) => [name, { name, text: SQL[name] }])) as Statements;
const UNNAMED = Object.fromEntries(names.map((name) => [name, { text: SQL[name] }])) as Statements;

/** The pool of this process. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #statements: Statements;
  readonly #reset: boolean;
  readonly #log: FastifyBaseLogger;

  constructor(config: Config, log: FastifyBaseLogger) {
    this.#pool = new pg.Pool({
      connectionString: config.databaseUrl,
      max: config.poolMax,
      connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      maxLifetimeSeconds: MAX_LIFETIME_S,
      keepAlive: true,
      types,
      // Without persistence the pool is still the limit and the queue.
      ...(config.persistent ? {} : { maxUses: 1 }),
    });
    this.#statements = config.prepare ? PREPARED : UNNAMED;
    this.#reset = config.reset && config.persistent;
    this.#log = log;
    // Without listeners a connection that breaks, idle or not, would end the process.
    this.#pool.on("error", (error) => {
      log.warn(error, "an idle connection broke");
    });
    this.#pool.on("connect", (client) => {
      client.on("error", (error) => {
        log.debug(error, "a connection broke");
      });
    });
  }

  /** Lends a connection for as long as the work takes. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((cause: unknown) => {
      throw new Unavailable({ cause });
    });
    const connection = new Connection(client, this.#statements);
    try {
      return await work(connection);
    } finally {
      if (this.#reset && !connection.broken) {
        await connection.command(RESET).catch((error: unknown) => {
          this.#log.warn(error, "a connection was not reset");
        });
      }
      client.release(connection.broken);
    }
  }

  /** Waits for connections that are lent, then closes all. */
  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** A connection of the pool. Any failure of a statement makes it unfit for the next request. */
export class Connection {
  broken = false;
  readonly #client: pg.PoolClient;
  readonly #statements: Statements;

  constructor(client: pg.PoolClient, statements: Statements) {
    this.#client = client;
    this.#statements = statements;
  }

  /** One statement of the contract, one round trip. */
  async query<Row extends pg.QueryResultRow>(name: QueryName, values: (string | number)[]): Promise<Row[]> {
    try {
      return (await this.#client.query<Row>(this.#statements[name], values)).rows;
    } catch (cause) {
      throw this.#unavailable(cause);
    }
  }

  /** A command without parameters or rows. */
  async command(text: string): Promise<void> {
    try {
      await this.#client.query(text);
    } catch (cause) {
      throw this.#unavailable(cause);
    }
  }

  /** Commits what the work did, or rolls it back if the work throws. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.command("BEGIN");
    try {
      const result = await work();
      await this.command("COMMIT");
      return result;
    } catch (error) {
      // A broken connection is closed, which rolls back as well.
      if (!this.broken) await this.command("ROLLBACK");
      throw error;
    }
  }

  #unavailable(cause: unknown): Error {
    this.broken = true;
    return new Unavailable({ cause });
  }
}
