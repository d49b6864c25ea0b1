import { defineConfig } from "vitest/config"

// Processes, not threads, and no wrappers of WebAssembly compiled anew: storage threads come and go in tests, each
// strips the types of its code by Node's own program of WebAssembly, and V8 of
// Node 24 now and then frees such a wrapper twice ("Check failed: jit_page.has_value()" under TierUpWasmToJSWrapper, or
// SIGSEGV). A deployment runs built code, which nothing strips.
// Two cores: the Postgres cases share one server, started by scripts/test.ts before vitest.
export default defineConfig({
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "apps/*/src/**/*.test.ts",
      "property-tests/src/**/*.test.ts",
      "scripts/**/*.test.ts"
    ],
    exclude: ["**/node_modules/**", "**/slow-*.test.ts"],
    pool: "forks",
    execArgv: ["--wasm-wrapper-tiering-budget=1000000000"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
