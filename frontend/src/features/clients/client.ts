import type { ClientFieldsFragment, ClientRole } from '@/gql/operations';

export type ClientConnection = ClientFieldsFragment['connections'][number];

export const clientRoles: readonly ClientRole[] = ['PRODUCER', 'CONSUMER'];

/** The address of a client's connections, and the versions that it runs: each named once. */
export function addressesOf({ connections }: ClientFieldsFragment): string[] {
  return [...new Set(connections.map(({ address }) => address.replace(/:\d+$/, '')))].sort();
}

export function versionsOf({ connections }: ClientFieldsFragment): string[] {
  return [...new Set(connections.map(versionOf))].sort();
}

export function versionOf({ language, version, versionName }: ClientConnection): string {
  return `${language} ${versionName ?? version}`;
}

export function connectionId({ brokerName, address }: ClientConnection): string {
  return `${brokerName}/${address}`;
}
