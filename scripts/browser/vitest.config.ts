import { defineConfig } from "vitest/config"

/** `npm run test:browser`: pages in a real Chromium. One process: each test starts a browser of its own. */
export default defineConfig({
  test: {
    include: ["scripts/browser/slow-*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 180_000
  }
})
