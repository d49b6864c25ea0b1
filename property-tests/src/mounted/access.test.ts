/**
 * The table of endpoints by callers, through each adapter on a real framework.
 *
 * An adapter carries requests and answers, and knows no caller. The small round therefore sends, for each endpoint, one
 * request for each answer that the table has. The full round sends those of every caller, as the tests of the server
 * do.
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { describe } from "vitest"
import { openWorld } from "../../../apps/server/src/http/http-world.ts"
import { accessTests, givenTable } from "../../../apps/server/src/http/testing/access-table.ts"
import { onEffect, onExpress, onFastify, onHono } from "../../../apps/server/src/http/testing/mounted-servers.ts"
import { isLong } from "../runs.ts"

for (const [name, serve] of [
  ["Express", onExpress({ parsed: false })],
  ["Express, behind its JSON parser", onExpress({ parsed: true })],
  ["Fastify, without parsers", onFastify({ parsed: false })],
  ["Fastify, with its parsers", onFastify({ parsed: true })],
  ["Hono", onHono],
  ["Effect's HttpRouter", onEffect]
] as const)
  describe(`mounted on ${name}`, () => {
    accessTests(
      givenTable(() => openWorld({ serve })),
      isLong ? "every caller" : "one caller for each answer"
    )
  })
