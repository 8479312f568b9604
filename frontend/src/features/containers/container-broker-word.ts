import type { InnerBroker } from './container-queries';

/** What names a broker that can be removed: its name, or its file while it has none. */
export function wordOf({ name, brokerGroupName, path }: InnerBroker): string | null {
  if (name !== null) return name;
  return brokerGroupName === '' ? null : path;
}
