import { queryOptions } from '@tanstack/react-query';
import { ClientDocument, type ClientRole, ClientsDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask, demand } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { keepWithin } from '@/lib/keep-within';

export type ClientFilter = {
  search: string | undefined;
  group: string | undefined;
  role: ClientRole | undefined;
  after: string | undefined;
};

export const clientKeys = {
  of: (clusterName: string) => [clusterScope, 'clients', clusterName] as const,
  list: (clusterName: string, filter: ClientFilter) =>
    [...clientKeys.of(clusterName), filter] as const,
  one: (clusterName: string, clientId: string) =>
    [clusterScope, 'client', clusterName, clientId] as const,
};

export const clientPageSize = 50;

/** No event reports clients: only brokers know them, so the brokers are asked again and again. */
export function clientsOf(clusterName: string, filter: ClientFilter) {
  const { search = null, group = null, role = null, after = null } = filter;
  return queryOptions({
    queryKey: clientKeys.list(clusterName, filter),
    queryFn: ({ signal }) =>
      ask(
        ClientsDocument,
        { clusterName, first: clientPageSize, after, search, group, role },
        signal,
      ),
    placeholderData: keepWithin(clientKeys.of(clusterName)),
    refetchInterval: sampleIntervalMs,
  });
}

export function clientOf(clusterName: string, clientId: string) {
  return queryOptions({
    queryKey: clientKeys.one(clusterName, clientId),
    queryFn: async ({ signal }) =>
      demand(await ask(ClientDocument, { clusterName, clientId }, signal), 'client'),
    refetchInterval: sampleIntervalMs,
  });
}
