/** Records of the chain as their exact bytes. */
import type { chain } from "@flyball/contract/http"
import { Chain } from "@flyball/core"
import { Effect } from "effect"
import { listText, recordText } from "../answer/json-text.ts"
import { acceptsNdjson } from "../request/accepts.ts"
import type { HandlersOf } from "../request/call.ts"

/** Handlers of the rows of `chain` that answer records. */
export const chainHandlers: HandlersOf<Pick<typeof chain, "record" | "records">> = {
  records: ({ accept, query }) =>
    Chain.use((chain) => chain.records(query)).pipe(
      Effect.map((records) => {
        const texts = records.map(recordText)
        return acceptsNdjson(accept)
          ? ({ kind: "lines", lines: texts } as const)
          : ({ kind: "text", text: listText(texts) } as const)
      })
    ),
  record: ({ params }) =>
    Chain.use((chain) => chain.record(params.seq)).pipe(
      Effect.map((record) => ({ kind: "text", text: recordText(record) }) as const)
    )
}
