import { type QueryClient, queryOptions } from '@tanstack/react-query';
import {
  CapacityReportDocument,
  CapacityReportsDocument,
  RequestCapacityReportDocument,
} from '@/gql/operations';
import { ask } from '@/lib/graphql';
import { isUnfinished } from './report-status';

export const capacityKeys = {
  all: ['capacity'] as const,
  list: ['capacity', 'list'] as const,
  one: (id: string) => ['capacity', 'report', id] as const,
};

const listSize = 20;
const progressIntervalMs = 2_000;

export const capacityReports = queryOptions({
  queryKey: capacityKeys.list,
  queryFn: ({ signal }) => ask(CapacityReportsDocument, { first: listSize, after: null }, signal),
  refetchInterval: (query) => {
    const reports = query.state.data?.data.capacityReports.nodes ?? [];
    return reports.some((report) => isUnfinished(report.status)) ? progressIntervalMs : 30_000;
  },
});

export function capacityReport(id: string) {
  return queryOptions({
    queryKey: capacityKeys.one(id),
    queryFn: ({ signal }) => ask(CapacityReportDocument, { id }, signal),
    refetchInterval: (query) => {
      const status = query.state.data?.data.capacityReport?.status;
      return status && isUnfinished(status) ? progressIntervalMs : false;
    },
  });
}

export function requestCapacityReport(client: QueryClient) {
  return {
    mutationFn: () => ask(RequestCapacityReportDocument, {}),
    onSuccess: () => client.invalidateQueries({ queryKey: capacityKeys.list }),
  };
}
