/** Reads the response policy out of its document, and writes it for the wire. */
import type { PolicyRow as PolicyRowOut, PolicyRowIn } from "@flyball/contract"
import { emptyResponsePolicy, type PolicyRow, type ResponsePolicyDocument } from "@flyball/rules"
import type { Document } from "../../storage/port.ts"

/** The policy as it was read; version 0 where there is none. */
export interface StoredPolicy {
  readonly version: number
  readonly body: ResponsePolicyDocument
}

/** The policy in the document; only this folder writes there. */
export const storedPolicy = (document: Document | null): StoredPolicy =>
  document === null
    ? { version: 0, body: emptyResponsePolicy }
    : { version: document.version, body: document.body as unknown as ResponsePolicyDocument }

/** The row of an input. */
export const policyRow = ({ notify = [], response, scope, target = null, trigger }: PolicyRowIn): PolicyRow => ({
  scope,
  target,
  trigger,
  response,
  notify
})

/** A row as the interface shows it, and as the record's part has it. */
export const policyRowOut = ({ notify, response, scope, target, trigger }: PolicyRow): PolicyRowOut => ({
  scope,
  target,
  trigger,
  response,
  notify
})
