/** The chain as a module: read, recomputed, proved, and parts of it erased. Spec: document 1 section 4, `/chain`. */
import { RecordNotFound } from "@flyball/contract"
import { chain as all } from "@flyball/contract/http"
import { utf8 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import { Chain } from "../../chain/chain.ts"
import { Checkpointer } from "../../chain/checkpointer.ts"
import type { Scope } from "../../foundation/scope.ts"
import { Erasure } from "../erasure/service.ts"
import { Parts } from "../parts/service.ts"

/** Records are answered as their exact bytes: HTTP and the embedding client write these two by hand. */
const { record, records, ...rows } = all

/** Only callers who see every unit read records. */
const get = (seq: string, scope: Scope) =>
  scope.orgUnits === "*"
    ? Chain.use((chain) => chain.record(Number(seq)))
    : Effect.fail(new RecordNotFound({ seq: Number(seq) }))

const operations = {
  head: () => Chain.use((chain) => chain.head),
  verify: ({ query }) => Chain.use((chain) => chain.verify(query.from, query.to)),
  part: ({ params }, { scope }) => Parts.use((parts) => parts.get(params.seq, params.name, scope)),
  proof: ({ params, query }) => Chain.use((chain) => chain.proof(params.seq, query.tree_size)),
  consistency: ({ query }) => Chain.use((chain) => chain.consistency(query.from, query.to)),
  checkpoint: Effect.fnUntraced(function* () {
    return utf8((yield* (yield* Chain).checkpointText) ?? (yield* (yield* Checkpointer).now).note)
  }),
  genesis: ({ query }) => Chain.use((chain) => chain.genesis(query.chain)),
  keys: Effect.fnUntraced(function* ({ query }) {
    const chain = yield* Chain
    return { origin: chain.origin, keys: yield* pageOf(yield* chain.keys, query, ({ key_id }) => key_id) }
  }),
  erase: Effect.fnUntraced(function* ({ body }, { writer }) {
    return yield* (yield* Erasure).erase(body, yield* writer)
  })
} satisfies OperationsOf<typeof rows>

/** The chain. Its services open before all others. Spec: document 1 section 4, `/chain`. */
export const chain: Module<"chain", typeof rows, typeof operations, Layer.Layer<never>> = defineModule({
  name: "chain",
  rows,
  operations,
  layer: Layer.empty,
  reads: [{ missing: "RecordNotFound", member: "seq", param: "seq", get }]
})
