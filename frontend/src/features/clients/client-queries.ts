import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ClientDocument, type ClientRole, ClientsDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';

export type ClientFilter = {
  search: string | undefined;
  group: string | undefined;
  role: ClientRole | undefined;
  after: string | undefined;
};

export const clientKeys = {
  list: (clusterName: string, filter: ClientFilter) =>
    [clusterScope, 'clients', clusterName, filter] as const,
  one: (clusterName: string, clientId: string) =>
    [clusterScope, 'client', clusterName, clientId] as const,
};

export const clientPageSize = 50;

/** No event tells of clients: brokers alone know them, and are asked again and again. */
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
    placeholderData: keepPreviousData,
    refetchInterval: sampleIntervalMs,
  });
}

export function clientOf(clusterName: string, clientId: string) {
  return queryOptions({
    queryKey: clientKeys.one(clusterName, clientId),
    queryFn: ({ signal }) => ask(ClientDocument, { clusterName, clientId }, signal),
    refetchInterval: sampleIntervalMs,
  });
}
