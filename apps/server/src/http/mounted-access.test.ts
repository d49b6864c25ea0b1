/** The whole table of endpoints by every caller, through each adapter on a real framework. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { describe } from "vitest"
import { openWorld } from "./http-world.ts"
import { accessTests, givenTable } from "./testing/access-table.ts"
import { onEffect, onExpress, onFastify, onHono } from "./testing/mounted-servers.ts"

for (const [name, serve] of [
  ["Express", onExpress({ parsed: false })],
  ["Express, behind its JSON parser", onExpress({ parsed: true })],
  ["Fastify, without parsers", onFastify({ parsed: false })],
  ["Fastify, with its parsers", onFastify({ parsed: true })],
  ["Hono", onHono],
  ["Effect's HttpRouter", onEffect]
] as const)
  describe(`mounted on ${name}`, () => accessTests(givenTable(() => openWorld({ serve }))))
