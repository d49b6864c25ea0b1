/** A checking thread: takes blocks of whole lines, answers what run of good records each begins with. It decides nothing, and loads little: its start is part of every check. */
import { parentPort } from "node:worker_threads"
import { RunChecker } from "../verify/record-run.ts"
import type { BlockToCheck } from "./check-threads.ts"
import { hashLeaves, hashNodes } from "./hash-batches.ts"

const port = parentPort!
const checker = new RunChecker({ leafHashes: hashLeaves, nodeHashes: hashNodes })

port.on("message", ({ bytes, keepParts }: BlockToCheck) => {
  const run = checker.check(bytes, 0, bytes.length, keepParts)
  port.postMessage({ bytes, run }, [bytes.buffer])
})
port.postMessage("ready")
