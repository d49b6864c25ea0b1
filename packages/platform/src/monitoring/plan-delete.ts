/** Plans the end of a monitor. Pure. Spec: api.md "Document 2". */
import type { ChangeSet } from "@flyball/core/storage"
import {
  type AlertDocument,
  type MonitorDocument,
  monitorsOf,
  putMonitor,
  type Stored,
  monitorBody
} from "./document.ts"
import { planEndAlert } from "./plan-check.ts"

/** Plans the end of a monitor. Its open alert is resolved with it. */
export const planDelete = (
  stored: Stored<MonitorDocument>,
  open: Stored<AlertDocument> | null,
  nowMs: number,
  writer: string
): { readonly change: ChangeSet; readonly body: MonitorDocument } => {
  const { body: before, id } = stored
  const ended = open === null ? null : planEndAlert(stored, open, nowMs)
  const body: MonitorDocument = {
    ...before,
    status: "deleted",
    state: { ...before.state, sinceMs: nowMs, alert: null },
    slots: {},
    dueMs: null
  }
  return {
    body,
    change: {
      puts: [putMonitor({ ...stored, body }), ...(ended?.puts ?? [])],
      counts: [{ name: monitorsOf(body.owner), add: -1 }],
      records: [
        ...(ended?.records ?? []),
        { kind: "monitor.changed", agentId: null, body: monitorBody(id, body, writer), parts: [] }
      ],
      events: ended?.events ?? []
    }
  }
}
