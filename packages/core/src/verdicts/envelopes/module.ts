/** Envelopes as a module. Spec: document 1 section 4, `/bound/envelopes`; decision 0025. */
import { envelopes as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { knownAfter, pageOf } from "../../capability/page-of.ts"
import type { Scope } from "../../foundation/scope.ts"
import { Envelopes } from "./service.ts"

const get = (id: string, scope: Scope) => Envelopes.use((envelopes) => envelopes.get(id, scope))

const operations = {
  create: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* Envelopes).create(body, yield* writer, scope)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    yield* knownAfter(query.after, (id) => get(id, scope))
    return yield* (yield* Envelopes).list(query, scope)
  }),
  get: ({ params }, { scope }) => get(params.envelope_id, scope),
  update: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Envelopes).update(params.envelope_id, body, yield* writer, scope)
  }),
  lint: ({ body, params }, { asker, scope }) =>
    Envelopes.use((envelopes) => envelopes.lint(params.envelope_id, body, scope, asker)),
  publish: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Envelopes).publish(params.envelope_id, body, yield* writer, scope)
  }),
  withdraw: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Envelopes).withdraw(params.envelope_id, body, yield* writer, scope)
  }),
  backtest: ({ body, params }, { asker, scope }) =>
    Envelopes.use((envelopes) => envelopes.backtest(params.envelope_id, body, scope, asker)),
  versions: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    const versions = yield* (yield* Envelopes).versions(params.envelope_id, scope)
    return yield* pageOf(versions, query, ({ version }) => version)
  }),
  version: ({ params }, { scope }) =>
    Envelopes.use((envelopes) => envelopes.version(params.envelope_id, params.version, scope)),
  diff: ({ params, query }, { asker, scope }) =>
    Envelopes.use((envelopes) => envelopes.diff(params.envelope_id, query, scope, asker))
} satisfies OperationsOf<typeof rows>

/** Envelopes: the bounds of what agents may do alone. Spec: `envelope/1`; decision 0025. */
export const envelopes: Module<"envelopes", typeof rows, typeof operations, typeof Envelopes.layer> = defineModule({
  name: "envelopes",
  rows,
  operations,
  layer: Envelopes.layer,
  reads: [{ missing: "EnvelopeNotFound", member: "envelopeId", param: "envelope_id", get }]
})
