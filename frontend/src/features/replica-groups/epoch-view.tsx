import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { type LogHistory, layOutEpochs } from './epoch-lanes';
import { EpochLanesPicture } from './epoch-lanes-picture';
import type { EpochsAs } from './epoch-panel';
import { EpochTable } from './epoch-table';

type EpochViewProps = { histories: LogHistory[]; differingEpoch: number | null; view: EpochsAs };

/** The epochs of all logs, as a picture or as a table, and what is wrong with them before it. */
export function EpochView({ histories, differingEpoch, view }: EpochViewProps) {
  const { t } = useTranslation();
  const picture = useMemo(
    () => layOutEpochs(histories, differingEpoch),
    [histories, differingEpoch],
  );
  const silent = picture.lanes.filter((lane) => lane.bars === null);
  const hasBars = picture.lanes.some((lane) => lane.bars !== null && lane.bars.length > 0);
  return (
    <>
      {differingEpoch === null ? null : (
        <Notice tone="warn" title={t('epochs.differing', { epoch: differingEpoch })}>
          {t('epochs.differingNext')}
        </Notice>
      )}
      {silent.length > 0 ? (
        <Notice
          tone="warn"
          title={t('epochs.partial', {
            reported: picture.lanes.length - silent.length,
            total: picture.lanes.length,
          })}
        >
          {silent
            .map(({ brokerId, error }) => `${brokerId}: ${error ?? t('figure.unknown')}`)
            .join(' · ')}
        </Notice>
      ) : null}
      {view === 'lanes' ? <EpochLanesPicture picture={picture} /> : null}
      {view === 'table' && hasBars ? <EpochTable picture={picture} /> : null}
      {view === 'table' && !hasBars ? <EmptyState title={t('epochs.none')} /> : null}
    </>
  );
}
