/** The table of webhook events, from the catalogue of events. */
import { eventTypes, webhookEvents } from "@flyball/contract"
import { code } from "./code.ts"

/** One line per type: when it is sent, and the members of its data. */
export const eventsTable = (): string =>
  [
    "| type | when | `data` |",
    "|---|---|---|",
    ...eventTypes.map(
      (type) =>
        `| ${code([type])} | ${webhookEvents[type].about} | ${code(Object.keys(webhookEvents[type].data.fields))} |`
    )
  ].join("\n")
