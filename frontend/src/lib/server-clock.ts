/**
 * The control plane's clock as far as this browser knows it. Ages are measured against that clock,
 * so that a browser whose own clock is wrong does not call everything stale (D3).
 */
const toleranceMs = 2_000;

let offsetMs = 0;

export function observeServerDate(header: string | null, receivedAtMs: number = Date.now()): void {
  const serverMs = header === null ? Number.NaN : Date.parse(header);
  if (Number.isNaN(serverMs)) return;
  const difference = serverMs - receivedAtMs;
  // The header counts whole seconds, so a small difference says nothing.
  offsetMs = Math.abs(difference) <= toleranceMs ? 0 : difference;
}

export function serverNowMs(): number {
  return Date.now() + offsetMs;
}
