/**
 * The storage worker: a thread that holds one connection, so that neither an fsync nor a scan ever stops the host.
 *
 * Its imports are kept few on purpose (no Effect, and of core only its thread entry): a thread must start in tens of
 * milliseconds.
 */
import { parentPort } from "node:worker_threads"
import type { Posted } from "./protocol.ts"
import { RequestServer } from "./serve.ts"

const port = parentPort!
const server = new RequestServer((replies, transfer) => port.postMessage(replies, transfer))

// What is thrown ends this thread: the host hears of it and starts another.
port.on("message", (posted: ReadonlyArray<Posted>) => server.serve(posted))
