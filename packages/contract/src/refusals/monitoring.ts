/** Refusals about monitors and their alerts. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such monitor, or it is of another org unit. Spec: api.md, Conventions. */
export class MonitorNotFound extends Schema.TaggedError<MonitorNotFound>()("MonitorNotFound", {
  monitorId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): MonitorNotFound {
    return new MonitorNotFound({})
  }
  override get message(): string {
    return "There is no such monitor in the caller's org unit."
  }
}

/** There is no such alert, or it is of another org unit. Spec: api.md, Conventions. */
export class AlertNotFound extends Schema.TaggedError<AlertNotFound>()("AlertNotFound", {
  alertId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): AlertNotFound {
    return new AlertNotFound({})
  }
  override get message(): string {
    return "There is no such alert in the caller's org unit."
  }
}
