/** Spans of time as people write them. */

/** Milliseconds of `90s`, `15m`, `24h` or `7d`; null for anything else. */
export const parseDuration = (text: string): number | null => {
  const match = /^(0|[1-9][0-9]{0,8})([smhd])$/.exec(text)
  return match === null ? null : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
