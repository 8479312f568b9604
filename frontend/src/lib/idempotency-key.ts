/**
 * Makes a key under which a request has one effect, however often it is sent. Random bytes and not
 * `randomUUID`, which browsers keep from pages that come over plain HTTP.
 */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
