/** Writes measurements in the text format that Prometheus reads, version 0.0.4. */

/** Media type of the format. */
export const METRICS_MEDIA = "text/plain; version=0.0.4; charset=utf-8"

/** One line of a family. */
export interface Sample {
  /** Of histograms: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string
  readonly labels?: { readonly [name: string]: string }
  readonly value: number
}

/** What is measured under one name. */
export interface Family {
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly help: string
  readonly samples: ReadonlyArray<Sample>
}

/** The text for these families. One without samples is left out: what is not known is not said. */
export const exposition = (families: ReadonlyArray<Family>): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .map(({ help, name, samples, type }) =>
      [
        `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
        `# TYPE ${name} ${type}`,
        ...samples.map((sample) => `${name}${sample.suffix ?? ""}${labelsOf(sample)} ${sample.value}`)
      ].join("\n")
    )
    .join("\n") + "\n"

const labelsOf = ({ labels = {} }: Sample): string => {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')}"`
  )
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}
