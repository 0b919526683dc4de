/** Connections: opened, lent, reset and thrown away. https://node-postgres.com/apis/pool */

import type { FastifyBaseLogger } from "fastify";
import pg from "pg";

import type { Config } from "./config.ts";
import { Unavailable } from "./errors.ts";
import { time } from "./models.ts";
import { type QueryName, SQL } from "./queries.ts";

/**
 * DISCARD ALL without DEALLOCATE ALL: node-postgres cannot be told that its prepared statements are gone.
 * One message, one round trip.
 */
const RESET =
  "CLOSE ALL; UNLISTEN *; RESET ALL; SELECT pg_advisory_unlock_all(); DISCARD SEQUENCES; DISCARD TEMP";

/** SQLSTATE classes of errors in the program or its schema: data, integrity, and syntax or names. */
const BUG = /^(22|23|42)/;

/** How values are read: node-postgres' way, but a moment becomes the text that the contract wants. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, time);

/** The pool of this process. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #prepares: boolean;
  readonly #resets: boolean;
  readonly #log: FastifyBaseLogger;

  constructor(config: Config, log: FastifyBaseLogger) {
    const persistent = config.DB_PERSISTENT === "1";
    this.#log = log;
    this.#prepares = config.DB_PREPARE === "1";
    this.#resets = config.DB_RESET === "1" && persistent;
    this.#pool = new pg.Pool({
      connectionString: config.DATABASE_URL,
      max: config.DB_POOL_MAX,
      connectionTimeoutMillis: 1500,
      query_timeout: 2000,
      // https://node-postgres.com/features/pipelining
      pipeline: config.DB_PIPELINE === "1",
      idleTimeoutMillis: 10 * 60_000,
      maxLifetimeSeconds: 30 * 60,
      // Without persistence the pool is still the limit and the queue.
      ...(persistent ? {} : { maxUses: 1 }),
      types,
    });
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
    const connection = new Connection(client, this.#prepares);
    try {
      return await work(connection);
    } finally {
      if (this.#resets && !connection.broken) {
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

/** A connection while a request has it. Any failure of a statement makes it unfit for the next request. */
export class Connection {
  broken = false;
  readonly #client: pg.PoolClient;
  readonly #prepares: boolean;

  constructor(client: pg.PoolClient, prepares: boolean) {
    this.#client = client;
    this.#prepares = prepares;
  }

  /** One statement of the contract, one round trip; its name makes node-postgres prepare it on first use. */
  async query<Row extends object>(name: QueryName, ...values: (string | number)[]): Promise<Row[]> {
    const text = SQL[name];
    const query = this.#prepares ? { name, text, values } : { text, values };
    return (await this.#answer(this.#client.query<Row>(query))).rows;
  }

  /** A command without parameters or rows. */
  async command(text: string): Promise<void> {
    await this.#answer(this.#client.query(text));
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

  /** Tells a bug, which stays what it is, from a database that is away or slow. */
  async #answer<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      this.broken = true;
      const bug =
        cause instanceof TypeError || (cause instanceof pg.DatabaseError && BUG.test(cause.code ?? ""));
      throw bug ? cause : new Unavailable({ cause });
    }
  }
}
