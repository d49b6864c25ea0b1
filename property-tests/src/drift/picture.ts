/** The picture of docs/drift.md: e-values of three streams of real runs. */
import { generator } from "@flyball/statistics"
import { changes, eValuesOf } from "./rates.ts"
import { shuffled, tauAgents, type TauDecision } from "./tau-runs.ts"

type Runs = ReadonlyArray<ReadonlyArray<TauDecision>>

const runsOf = (name: string): Runs => tauAgents.find((agent) => agent.name.startsWith(name))!.runs

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [720, 340, 60, 20, 20, 50]
const [MOST_RUNS, LOW, HIGH] = [120, -1, 3]
const x = (runs: number): string => (LEFT + ((WIDTH - LEFT - RIGHT) * runs) / MOST_RUNS).toFixed(1)
const y = (value: number): string => {
  const place = (Math.min(HIGH, Math.max(LOW, Math.log10(value))) - LOW) / (HIGH - LOW)
  return (HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * place).toFixed(1)
}

const topToolReplaced = changes["half of the calls of the top tool go to another"]!

/** The picture as SVG. */
export const driftPicture = (): string => {
  const random = generator(Uint8Array.from({ length: 16 }, (_, at) => at + 3))
  const mixed = (name: string): Runs => shuffled(runsOf(name), random)
  const retail = mixed("tau2.toolorchestra.retail")
  const streams = [
    { name: "nothing changes (retail, 114 runs)", color: "#2a7f62", change: null, runs: retail },
    {
      name: "half of the calls of its top tool go to another, after 64 runs",
      color: "#b3261e",
      change: 64,
      runs: [...retail.slice(0, 64), ...topToolReplaced(retail.slice(64), random)]
    },
    {
      name: "another agent with another model, after 50 runs (airline): not seen in 28 runs",
      color: "#5b5fc7",
      change: 50,
      runs: [...mixed("tau2.toolorchestra.airline"), ...mixed("tau2.ironforge.airline")]
    }
  ]
  const lines = streams.flatMap(({ change, color, name, runs }, at) => [
    ...(change === null
      ? []
      : [
          `<line x1="${x(change)}" y1="${TOP}" x2="${x(change)}" y2="${HEIGHT - BOTTOM}" stroke="${color}" ` +
            `stroke-dasharray="2 4"/>`
        ]),
    `<polyline fill="none" stroke="${color}" stroke-width="2" points="${eValuesOf(runs)
      .map(([count, value]) => `${x(count)},${y(value)}`)
      .join(" ")}"/>`,
    `<text x="${LEFT + 12}" y="${TOP + 18 + 18 * at}" fill="${color}">${name}</text>`
  ])
  const axis = [0.1, 1, 10, 100, 1_000].map(
    (value) => `<text x="${LEFT - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${value}</text>`
  )
  const counts = [0, 20, 40, 60, 80, 100, 120].map(
    (count) => `<text x="${x(count)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${count}</text>`
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>E-values of three streams of real runs</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<path d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}" fill="none" stroke="#555555"/>`,
    ...axis,
    ...counts,
    `<line x1="${LEFT}" y1="${y(20)}" x2="${WIDTH - RIGHT}" y2="${y(20)}" stroke="#000000" stroke-dasharray="6 3"/>`,
    `<text x="${WIDTH - RIGHT}" y="${Number(y(20)) - 6}" text-anchor="end">alarm at 20</text>`,
    ...lines,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 12}" text-anchor="middle">runs</text>`,
    `<text x="${LEFT - 44}" y="${TOP - 6}">e-value</text>`,
    `</svg>`,
    ""
  ].join("\n")
}
