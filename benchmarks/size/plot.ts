/** Line plots over a logarithmic axis of records, as SVG. */

/** A line: records and value of each point. */
export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<readonly [number, number]>
}

/** One plot; all of a file share the axis of records. */
export interface Panel {
  readonly title: string
  /** A level to draw as a dashed line. */
  readonly limit: number | null
  readonly series: ReadonlyArray<Series>
}

const WIDTH = 760
const HEIGHT = 260
const LEFT = 60
const RIGHT = 120
const TOP = 34
const BOTTOM = 30
const colours = ["#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a"]

/** Draws the panels below each other. */
export const plot = (panels: ReadonlyArray<Panel>): string => {
  const records = panels.flatMap(({ series }) => series.flatMap(({ points }) => points.map(([count]) => count)))
  const low = Math.floor(Math.log10(Math.min(...records)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...records))))
  const x = (count: number): number => LEFT + ((Math.log10(count) - low) / (high - low)) * (WIDTH - LEFT - RIGHT)
  const height = HEIGHT * panels.length
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...panels.map(
      (panel, index) => `<g transform="translate(0 ${index * HEIGHT})">\n${drawn(panel, x, low, high).join("\n")}\n</g>`
    ),
    "</svg>\n"
  ].join("\n")
}

const drawn = (
  { limit, series, title }: Panel,
  x: (count: number) => number,
  low: number,
  high: number
): ReadonlyArray<string> => {
  const shown = series.filter(({ points }) => points.length > 0)
  const top = Math.max(limit ?? 0, ...shown.flatMap(({ points }) => points.map(([, value]) => value))) * 1.1
  const floor = HEIGHT - BOTTOM
  const y = (value: number): number => floor - (value / top) * (floor - TOP)
  const powers = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index))
  const levels = [0, 0.25, 0.5, 0.75, 1].map((share) => (share * top) / 1.1)
  return [
    `<text x="${LEFT}" y="18" font-weight="bold">${title}</text>`,
    ...levels.map(
      (level) =>
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${place(y(level))}" y2="${place(y(level))}" ` +
        `stroke="#e6e8eb"/><text x="${LEFT - 6}" y="${place(y(level) + 4)}" ` +
        `text-anchor="end">${Number(level.toPrecision(3))}</text>`
    ),
    ...powers.map(
      (power) =>
        `<line x1="${place(x(power))}" x2="${place(x(power))}" y1="${TOP}" y2="${floor}" ` +
        `stroke="#e6e8eb"/><text x="${place(x(power))}" y="${floor + 16}" ` +
        `text-anchor="middle">${power.toLocaleString("en-GB")}</text>`
    ),
    ...(limit === null
      ? []
      : [
          `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${place(y(limit))}" y2="${place(y(limit))}" ` +
            `stroke="#d1242f" stroke-dasharray="6 4"/>`
        ]),
    ...shown.map(({ name, points }, index) => {
      const colour = colours[index % colours.length]!
      const at = points.map(([count, value]) => [place(x(count)), place(y(value))] as const)
      return (
        `<polyline fill="none" stroke="${colour}" stroke-width="2" ` +
        `points="${at.map((point) => point.join(",")).join(" ")}"/>` +
        at.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`).join("") +
        `<text x="${WIDTH - RIGHT + 10}" y="${TOP + 12 + index * 18}" fill="${colour}">${name}</text>`
      )
    })
  ]
}

const place = (value: number): number => Math.round(value * 10) / 10
