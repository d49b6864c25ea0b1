/**
 * Script that a thread runs first. A thread does not inherit the host's compile cache, and stripping types again takes
 * most of its start: with the cache a store opens in less than half the time.
 */
export const threadBootstrap = `
  const { workerData } = require("node:worker_threads")
  if (workerData.cache !== null) require("node:module").enableCompileCache(workerData.cache)
  import(workerData.url)`
