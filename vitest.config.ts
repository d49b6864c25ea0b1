import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { filesByProcess } from "./scripts/test-files.ts"

// Storage threads and processes that tests start find their code compiled, and start in half the time.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/flyball-tests", import.meta.url))

// Processes, not threads. Files share them and their modules: to load these anew for each file takes a third of a run.
// The flag: storage threads start and end in tests, and each strips the types of its sources with Node's own
// WebAssembly program. When V8 of Node 24 recompiles a JavaScript wrapper of such a program while a thread ends, it can
// free the wrapper twice and end the process ("Check failed: jit_page.has_value()" under TierUpWasmToJSWrapper, or
// SIGSEGV). With this budget no wrapper is called often enough to be recompiled. Flags of V8 hold for all threads of a
// process. A built program strips no types.
// Under `npm test` storage threads run the joined program, as an installed one does: they start in half the time.
const joinedThreads =
  process.env["FLYBALL_TEST_PROGRAMS"] === undefined
    ? []
    : [
        {
          find: /^(\.\.?\/)+thread-module\.ts$/,
          replacement: fileURLToPath(new URL("scripts/joined-thread-module.ts", import.meta.url))
        }
      ]

const files = filesByProcess(fileURLToPath(new URL(".", import.meta.url)))

// Two cores: the Postgres cases share one server, started by scripts/test.ts before vitest.
export default defineConfig({
  resolve: { alias: joinedThreads },
  test: {
    projects: [
      { extends: true, test: { name: "quiet", include: [...files.quiet], isolate: false } },
      { extends: true, test: { name: "starting", include: [...files.starting], isolate: false } },
      { extends: true, test: { name: "alone", include: [...files.alone] } }
    ],
    pool: "forks",
    execArgv: ["--wasm-wrapper-tiering-budget=1000000000"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
