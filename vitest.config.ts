import { defineConfig } from "vitest/config"

// Two cores: the Postgres cases share one server, started by scripts/test.ts before vitest.
export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "property-tests/src/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/slow-*.test.ts"],
    pool: "threads",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
