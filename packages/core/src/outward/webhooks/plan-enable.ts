/** Plans the enabling of a webhook. Pure. */
import { WebhookRevoked } from "@flyball/contract"
import { Result } from "effect"
import type { ChangeSet } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { endpointAfter } from "@flyball/rules"
import type { StoredWebhook } from "./document.ts"
import { changeStatus } from "./plan-disable.ts"

/**
 * Plans enabling a webhook; null when it is active already. Only later events are delivered to it; `recover` delivers
 * the earlier ones.
 *
 * - Fails: `WebhookRevoked`.
 */
export const planEnable = (
  { body, id, version }: StoredWebhook,
  writer: Writer
): Result.Result<ChangeSet | null, WebhookRevoked> => {
  if (body.status === "active") return Result.succeed(null)
  const status = endpointAfter("enable", body.status)
  return status === null
    ? Result.fail(new WebhookRevoked({ webhookId: id }))
    : Result.succeed(changeStatus({ body, id, version }, status, "enabled", writer))
}
