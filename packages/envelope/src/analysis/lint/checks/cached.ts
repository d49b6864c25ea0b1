import { localObstacle } from "../../../decide/local-verdict.ts"
import { effectClassOf } from "../../../language/tier-floor.ts"
import type { Inspection } from "../inspection.ts"

/** W214: `on_unavailable: allow_cached` of an envelope under which no verdict is ever given without the service. */
export const checkCached = ({ facts, notChecked, say }: Inspection): void => {
  const { envelope } = facts
  if (envelope === undefined) {
    notChecked.push({
      code: "W214",
      rules: [],
      reason: "What the envelope says of the service being away was not given."
    })
    return
  }
  if (envelope.onUnavailable === "deny") return
  const tools = envelope.signals.find(({ name }) => name === "tool")?.values ?? ["*"]
  const obstacle = localObstacle([envelope])
  const why =
    obstacle === "metered"
      ? "It has meters, which the service alone knows."
      : obstacle === "latched"
        ? "It has latches, which the service alone knows."
        : tools.some((tool) => effectClassOf([envelope], tool) === "read")
          ? null
          : "No tool is of the class read."
  if (why === null) return
  say(
    "W214",
    [],
    `on_unavailable is allow_cached, and nothing is decided without the service. ${why} Say deny, or move what may ` +
      "go on into an envelope of its own."
  )
}
