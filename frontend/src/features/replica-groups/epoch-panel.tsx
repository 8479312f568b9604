import { SegmentedControl } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import type { LogHistoryFieldsFragment } from '@/gql/operations';
import type { Answer } from '@/lib/graphql';
import { EpochView } from './epoch-view';

export type EpochsAs = 'lanes' | 'table';
type Epochs = { differingEpoch: number | null; replicas: LogHistoryFieldsFragment[] };

type EpochPanelProps = {
  query: UseQueryResult<Answer<{ epochs: Epochs | null }>>;
  view: EpochsAs;
  onView: (view: EpochsAs) => void;
};

/** Which epoch wrote which part of each replica's log, as the replicas themselves report it. */
export function EpochPanel({ query, view, onView }: EpochPanelProps) {
  const { t } = useTranslation();
  return (
    <Panel
      title={t('epochs.title')}
      flush
      aside={
        <>
          <Answered atMs={query.dataUpdatedAt} staleMs={30_000} followed />
          <SegmentedControl
            aria-label={t('epochs.view')}
            value={view}
            onChange={onView}
            data={[
              { value: 'lanes', label: t('epochs.lanes') },
              { value: 'table', label: t('epochs.table') },
            ]}
          />
        </>
      }
    >
      <QueryView query={query} needs="epochs">
        {({ epochs }) =>
          epochs === null ? (
            <EmptyState title={t('epochs.none')} />
          ) : (
            <EpochView
              histories={epochs.replicas}
              differingEpoch={epochs.differingEpoch}
              view={view}
            />
          )
        }
      </QueryView>
    </Panel>
  );
}
