/** The caller of a request as operations see it. Spec: house section 3. */
import { detailItem, InvalidInput } from "@flyball/contract"
import { type AccessRow, unitsFor } from "@flyball/contract/http"
import type { LostAccess, OperationCaller, OperationFault, Principals, Scope } from "@flyball/core"
import { type Context, Effect } from "effect"
import { knows } from "./accepts.ts"
import { type StreamAdmission, streamAdmission, whileAdmitted } from "./admission.ts"
import type { Call, Services } from "./call.ts"
import { type AdmittedCaller, askerOf, emailOf, scopeOf, writerOf } from "./caller.ts"
import { receivedBytes } from "./read-body.ts"
import { untilDrained } from "./until-drained.ts"

type Lasting = Pick<
  Call<unknown, unknown, unknown>,
  "account" | "caller" | "readmit" | "request" | "server" | "signal" | "value"
>

/** Makes the caller of a request. Nothing is computed before an operation asks for it. */
export const operationCaller = (call: Lasting, context: Context.Context<Services>): OperationCaller =>
  new RequestCaller(call, context, call.caller)

class RequestCaller implements OperationCaller {
  readonly #call: Lasting
  readonly #context: Context.Context<Services>
  readonly #caller: AdmittedCaller

  constructor(call: Lasting, context: Context.Context<Services>, caller: AdmittedCaller) {
    this.#call = call
    this.#context = context
    this.#caller = caller
  }

  get scope(): Scope {
    return scopeOf(this.#caller)
  }

  get may(): OperationCaller["may"] {
    const caller = this.#caller
    return (row: AccessRow) => ({
      orgUnits:
        caller.kind === "anonymous" || (caller.kind === "user" && caller.readOnly === true) ? [] : unitsFor(row, caller)
    })
  }

  /** A key is its own writer, and need not wait for the answer: those are the requests that come by the thousand. */
  get writer(): OperationCaller["writer"] {
    if (this.#caller.kind === "key" || this.#caller.kind === "platform") return Effect.succeed(this.#caller.writer)
    return Effect.provideContext(writerOf(this.#caller), this.#context as Context.Context<Principals>)
  }

  get own(): string | null {
    return this.#caller.kind === "key" || this.#caller.kind === "platform" ? this.#caller.writer.id : null
  }

  get grants(): OperationCaller["grants"] {
    return this.#caller.kind === "user" ? this.#caller.grants : []
  }

  get maxTier(): OperationCaller["maxTier"] {
    switch (this.#caller.kind) {
      case "key":
        return this.#caller.maxTier
      case "platform":
        return "L1"
      case "anonymous":
      case "user":
        return "L4"
    }
  }

  get asker(): string {
    return askerOf(this.#caller)
  }

  get knows(): OperationCaller["knows"] {
    const given = this.#call.request.headers["if-none-match"]
    return (tag) => knows(given, `"${tag}"`)
  }

  get account(): OperationCaller["account"] {
    return this.#call.account
  }

  get received(): OperationCaller["received"] {
    const { request, value } = this.#call
    return {
      body: receivedBytes(value),
      header: (name) => {
        const given = request.headers[name]
        return typeof given === "string" ? given : null
      }
    }
  }

  get signal(): AbortSignal {
    return this.#call.signal()
  }

  get email(): string | null {
    return emailOf(this.#caller)
  }

  /** The version that an `If-Match` names; null without one, or for any. One that is no version matches none. */
  get ifVersion(): number | null {
    const header = this.#call.request.headers["if-match"]
    if (header === undefined || header.trim() === "*") return null
    const version = /^"p(\d{1,15})"$/.exec(header.trim())?.[1]
    return version === undefined ? -1 : Number(version)
  }

  get afterEvent(): number | null {
    const header = this.#call.request.headers["last-event-id"]
    return typeof header === "string" && header !== "" ? Number(header) : null
  }

  get follow(): OperationCaller["follow"] {
    const [call, context] = [this.#call, this.#context]
    return async function* <A>(
      step: (caller: OperationCaller, stretchMs: number) => Effect.Effect<A, OperationFault>
    ): AsyncGenerator<A> {
      const admission: StreamAdmission = await Effect.runPromiseWith(context)(streamAdmission(call))
      while (!call.server.draining()) {
        const now = new RequestCaller(call, context, admission.caller())
        const found = await Effect.runPromise(untilDrained(step(now, admission.waitMs()), call.server))
        if (found === null || !(await admission.holds())) return
        yield found
      }
    }
  }

  get whileAdmitted(): OperationCaller["whileAdmitted"] {
    const [call, context] = [this.#call, this.#context]
    return <A, E, R>(
      waitMs: number,
      step: (caller: OperationCaller, stretchMs: number) => Effect.Effect<A | null, E, R>
    ) =>
      // The cast: faults of http's own are answered by the dispatcher, and core does not know them.
      whileAdmitted(call, waitMs, (still, stretchMs) => step(new RequestCaller(call, context, still), stretchMs)).pipe(
        Effect.map(({ caller, found }) => ({ found, caller: new RequestCaller(call, context, caller) }))
      ) as Effect.Effect<
        { readonly found: A | null; readonly caller: OperationCaller },
        E | LostAccess | OperationFault,
        R
      >
  }
}

/** Refuses a `Last-Event-ID` that is no id of an event. */
export const checkLastEventId = (
  header: string | ReadonlyArray<string> | undefined
): Effect.Effect<void, InvalidInput> =>
  header === undefined || header === "" || (typeof header === "string" && isEventId(header))
    ? Effect.void
    : Effect.fail(
        new InvalidInput({
          detail: [
            detailItem(["header", "last-event-id"], "int_parsing", "Expected the id of an event of this stream", header)
          ]
        })
      )

const isEventId = (text: string): boolean => /^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text))
