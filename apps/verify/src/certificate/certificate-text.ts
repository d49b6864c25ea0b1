/** A stop certificate in sentences. */
import type { StopCertificate } from "@flyball/rules"
import { listed } from "../replay/counted.ts"

/** The line beside the contents. */
export const certificateText = (certificate: StopCertificate): string => {
  const { activated, bound, instances, refusal_count, released, requested, response, silent, target } = certificate
  const acknowledged = instances.filter((one) => one.acknowledged_at !== null).length
  const stopped = instances.filter((one) => one.stopped_at !== null).length
  return [
    `${certificate.drill === null ? "" : `${certificate.drill} drill, `}${response} of ${target.type} ${target.id},`,
    `by ${activated.writer} at ${activated.at}, epoch ${certificate.epoch}` +
      `${requested === null ? "" : `, requested by ${requested.by}`}.`,
    `${instances.length} instances: ${acknowledged} acknowledged, ${stopped} stopped, ${silent} silent.`,
    `${refusal_count} refusals.`,
    released === null ? "Still active at the end of the pack." : `Released by ${released.writer} at ${released.at}.`,
    boundTexts[bound]
  ].join(" ")
}

const boundTexts: { readonly [bound in StopCertificate["bound"]]: string } = {
  met: "Every expected instance stopped within 15 s, and no later side effect is recorded.",
  missed: "An instance has a recorded side effect more than 15 s after the activation.",
  unknown: "It is unknown whether every instance stopped within 15 s.",
  none: "Nothing had to stop."
}

/** The findings of the certificate, and a line for each instance, below the findings of the pack. */
export const certificateEntries = ({ findings, instances }: StopCertificate) => [
  ...(findings.length === 0 ? [] : [entry("Findings of the certificate", findings, findingText)]),
  entry("Instances under the activation", instances, instanceText)
]

const entry = <A>(title: string, all: ReadonlyArray<A>, text: (one: A) => string) => ({
  title: `${title}: ${all.length}` + listed(all.slice(0, MAX_LISTED), all.length),
  items: all.slice(0, MAX_LISTED).map(text)
})

const findingText = (one: StopCertificate["findings"][number]): string =>
  `${one.code}: ${one.instance_id ?? "An instance without a name"} of ${one.agent_id} reported at ${one.stopped_at} ` +
  `that it had stopped, and acted at ${one.at} (record ${one.seq}).`

const instanceText = (one: StopCertificate["instances"][number]): string => {
  const { acknowledged_at: acknowledged, last_side_effect: last, stopped_at: stopped } = one
  return (
    `${one.instance_id ?? "without an instance"} of ${one.agent_id}: acknowledged ${acknowledged ?? "never"}, ` +
    `stopped ${stopped ?? "unconfirmed"}, ` +
    `last side effect ${last === null ? "none" : `${last.at} (record ${last.seq})`}`
  )
}

const MAX_LISTED = 20
