/** Debian's Chromium, headless, with an empty profile and without a way to a network. */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type BrowserContext, chromium, type Page } from "playwright-core"

/** Where Debian's package `chromium` puts it. */
const EXECUTABLE = "/usr/bin/chromium"

/** A page, and what it did besides showing something. */
export interface WatchedPage {
  readonly page: Page
  /** Addresses of all requests of the page and its workers. */
  readonly requests: ReadonlyArray<string>
  /** Errors and warnings of its console, and exceptions that nothing caught. */
  readonly complaints: ReadonlyArray<string>
}

/** A browser. `close` also removes its profile. */
export interface Chromium {
  readonly open: (url: string) => Promise<WatchedPage>
  readonly close: () => Promise<void>
}

/**
 * Starts the browser. `viewport`: the size of its pages, in CSS pixels.
 *
 * - Fails: throws where Chromium is not installed; a test never passes without it.
 */
export const startChromium = async (viewport = { width: 1100, height: 900 }): Promise<Chromium> => {
  if (!existsSync(EXECUTABLE))
    throw new Error(
      `${EXECUTABLE} is missing. Install Debian's package: apt-get install -y --no-install-recommends chromium`
    )
  const profile = mkdtempSync(join(tmpdir(), "flyball-chromium-"))
  let context: BrowserContext
  try {
    context = await chromium.launchPersistentContext(profile, {
      executablePath: EXECUTABLE,
      headless: true,
      viewport,
      args: [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND"
      ]
    })
  } catch (cause) {
    rmSync(profile, { recursive: true, force: true })
    throw cause
  }
  return {
    open: async (url) => {
      const page = await context.newPage()
      const requests: Array<string> = []
      const complaints: Array<string> = []
      context.on("request", (request) => requests.push(request.url()))
      page.on("console", (message) => {
        if (message.type() !== "log") complaints.push(`${message.type()}: ${message.text()}`)
      })
      page.on("pageerror", (error) => complaints.push(String(error)))
      page.on("crash", () => complaints.push("The page crashed."))
      await page.goto(url)
      return { page, requests, complaints }
    },
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    }
  }
}
