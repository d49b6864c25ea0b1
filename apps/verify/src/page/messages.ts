/** Messages between the page and its worker. */
import type { CheckStep } from "../check-pack.ts"
import type { ReportElement } from "../reports/report-tree.ts"
import type { TimelinePage, TimelineQuery } from "../timeline/timeline.ts"

/** The person's input on the page. */
export interface PageRequest {
  readonly pack: File
  /** Keys, one on each line. */
  readonly vkeys: string
  readonly policy: File | null
  readonly trustedCheckpoint: File | null
  readonly previous: ReadonlyArray<File>
  readonly require: "full" | "range" | "any"
  /** As `24h`; empty where any age is accepted. */
  readonly maxAge: string
  readonly replay: boolean
  readonly bodies: boolean
}

/** To the worker. A check comes first; records are those of the pack that was checked. */
export type ToWorker =
  | { readonly type: "check"; readonly request: PageRequest }
  | { readonly type: "records"; readonly query: TimelineQuery }

/** From the worker. */
export type FromWorker =
  | {
      readonly type: "progress"
      readonly step: CheckStep
      /** Position of the reading in the file, and the file's length. Unit: bytes. */
      readonly at: number
      readonly size: number
    }
  | {
      readonly type: "checked"
      readonly tree: ReadonlyArray<ReportElement>
      /** The same as files to keep: a page and JSON. */
      readonly html: string
      readonly json: string
      readonly exit: number
      /** The records are what the pack claims, so that they can be shown. */
      readonly isIntact: boolean
    }
  | ({ readonly type: "records" } & TimelinePage)
  /** No verdict. `sentence`: why, and what to do. */
  | { readonly type: "failed"; readonly sentence: string }
