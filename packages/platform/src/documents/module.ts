/** Documents as a module. Spec: document 2 section 4; api.md "Document 2"; decision 0084. */
import { detailItem, InvalidInput } from "@flyball/contract"
import { documents as rows, ReceivedFile } from "@flyball/contract/http"
import {
  defineModule,
  EXTRACTIONS,
  Lists,
  type Module,
  oneUnit,
  type OperationsOf,
  rounds,
  type Scope,
  unitOfDocument,
  unitOwner
} from "@flyball/core"
import { Effect, Layer } from "effect"
import { extractionOut, listedExtraction, storedExtraction } from "./document.ts"
import { DocumentReader, type DocumentReaderApi, type DocumentReaderOptions } from "./reading/document-reader.ts"
import { Documents } from "./service.ts"

/** Options of documents. */
export interface DocumentOptions extends DocumentReaderOptions {
  /** A reader of your own, in place of the children of this process. */
  readonly reader?: DocumentReaderApi
}

const ofExtraction = (scope: Scope, { org_unit }: { readonly org_unit?: string }, id: string) =>
  unitOfDocument(scope, org_unit, { collection: EXTRACTIONS, id })

const operations = {
  extract: Effect.fnUntraced(function* ({ body, query }, caller) {
    const unit = yield* oneUnit(caller.scope, query.org_unit)
    const stated = body instanceof ReceivedFile ? null : body
    const model = query.model ?? stated?.model ?? null
    if (model === null && stated?.schema != null) {
      const msg = "Only a model reads by a schema: name one as `model`"
      return yield* new InvalidInput({ detail: [detailItem(["body", "schema"], "value_error", msg, null)] })
    }
    const options = {
      documentType: query.document_type ?? stated?.document_type ?? null,
      model: model === null ? null : { name: model, schema: stated?.schema ?? null },
      waitS: query.wait ?? 0,
      retain: query.retain === "true"
    }
    return yield* (yield* Documents).extract(unit, body, options, caller)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* oneUnit(scope, query.org_unit))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.list.id, owner, query }, EXTRACTIONS, listedExtraction, "status")
    )
    return { data: found.map((document) => extractionOut(storedExtraction(document), false)), ...page }
  }),
  get: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    const id = params.extraction_id
    return yield* (yield* Documents).get(yield* ofExtraction(scope, query, id), id)
  }),
  reveal: Effect.fnUntraced(function* ({ params, query }, { scope, writer }) {
    const id = params.extraction_id
    return yield* (yield* Documents).reveal(yield* ofExtraction(scope, query, id), id, yield* writer)
  })
} satisfies OperationsOf<typeof rows>

/** How often extractions are searched whose process ended. Unit: milliseconds. */
const ROUND_MS = 60_000

/** Documents that are under way at once: their reader takes one at a time, and a model is waited for. */
const AT_ONCE = 4

/** Reads documents, and ends those that another process left. */
const jobs: Layer.Layer<never, never, Documents> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { endOverdue, work } = yield* Documents
    const failed = (what: string) => Effect.catchCause((cause) => Effect.logError(what, cause))
    const reading = work.pipe(failed("An extraction could not be recorded. It fails as interrupted."), Effect.forever)
    for (let at = 0; at < AT_ONCE; at++) yield* Effect.forkScoped(reading)
    yield* rounds(endOverdue, {
      failed: "Interrupted extractions are not ended; each minute tries again.",
      over: "Interrupted extractions are ended again.",
      pause: Effect.sleep(ROUND_MS)
    })
  })
)

const layerOf = ({ reader, ...options }: DocumentOptions) =>
  Documents.layer.pipe(
    Layer.provide(reader === undefined ? DocumentReader.layer(options) : Layer.succeed(DocumentReader, reader))
  )

/** Fields of documents. Spec: document 2 section 4. */
export const documents = (
  options: DocumentOptions = {}
): Module<"documents", typeof rows, typeof operations, ReturnType<typeof layerOf>, typeof jobs> =>
  defineModule({ name: "documents", rows, operations, layer: layerOf(options), jobs: [jobs] })
