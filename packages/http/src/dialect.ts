/** How requests below a path are served: the order of their checks, and the form of ids, problems and headers. */
import type { Problem } from "@flyball/contract/http"
import type { dispatch, Dispatcher, Progress } from "./dispatch.ts"
import type { Incoming } from "./exchange.ts"

/** The rules of one of the two specifications for every request below its path. Spec: platform section 2. */
export interface Dialect {
  /** True for a path, with its query, of this dialect. */
  readonly serves: (url: string) => boolean
  /** The id of a request, which its answer says. */
  readonly requestId: (request: Incoming) => string
  readonly dispatch: typeof dispatch
  /** A problem as callers of this dialect get it. */
  readonly shown: (problem: Problem, to: { readonly requestId: string; readonly request: Incoming }) => Problem
  /** Headers of every answer, by what is known of the request when its head is written. */
  readonly headers?: (progress: Progress) => { readonly [name: string]: string }
}

/** Returns the dialect of a request: the first that serves its path. The last serves every path. */
export const dialectOf = ({ dialects }: Pick<Dispatcher, "dialects">, { url = "/" }: Incoming): Dialect =>
  dialects.find(({ serves }) => serves(url)) ?? dialects.at(-1)!
