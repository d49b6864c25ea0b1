import { defineConfig } from "vitest/config"

// Processes, not threads: stores start and end threads of their own, and where many do so in one process, V8 now and then ends it ("Check failed: jit_page.has_value()").
// Two cores: the Postgres cases share one server, started by scripts/test.ts before vitest.
export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "property-tests/src/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/slow-*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
