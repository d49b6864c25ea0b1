/** The table of webhook events, from the catalogue of events. */
import { eventTypes, platformEvents, platformEventTypes, webhookEvents } from "@flyball/contract"
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

/** The same of the events of the platform API. */
export const platformEventsTable = (): string =>
  [
    "| type | when | `data` |",
    "|---|---|---|",
    ...platformEventTypes.map((type) => {
      const { about, data } = platformEvents[type]
      return `| ${code([type])} | ${about} | ${code(Object.keys(data.fields))} |`
    })
  ].join("\n")
