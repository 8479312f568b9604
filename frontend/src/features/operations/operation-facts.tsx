import { useTranslation } from 'react-i18next';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { OperationLink } from '@/components/operation-link';
import { formatCountdown, formatDateTime, formatSeconds } from '@/lib/format';
import { useNow } from '@/lib/use-now';
import { capitalised, wordsOf } from '@/lib/words';
import { isUnchanged, type Operation } from './operation';

/** What is changed, at which risk, by which user and when; of a plan, also how long it holds. */
export function OperationFacts({ operation }: { operation: Operation }) {
  const { t } = useTranslation();
  const nowMs = useNow();
  const { kind, target, clusterName, plan, undoes, confirmedBy, confirmedAt, endedAt } = operation;
  const at = (time: string) => formatDateTime(Date.parse(time));
  return (
    <Facts>
      <Fact
        label={t('operation.kind')}
        foot={
          undoes === null ? undefined : (
            <OperationLink operationId={undoes}>{t('operation.undoes')}</OperationLink>
          )
        }
      >
        {capitalised(wordsOf(kind))}
      </Fact>
      <Fact label={t('operation.target')} foot={clusterName}>
        {target}
      </Fact>
      <Fact label={t('operation.risk')} foot={plan.riskLabel}>
        {t(`risk.${plan.risk}`)}
      </Fact>
      <Fact label={t('operation.plannedBy')} foot={at(operation.plannedAt)}>
        {operation.requestedBy}
      </Fact>
      {isUnchanged(operation.state) ? (
        <Fact label={t('operation.validFor')} foot={at(operation.expiresAt)}>
          <span role="timer">{formatCountdown(Date.parse(operation.expiresAt) - nowMs)}</span>
        </Fact>
      ) : null}
      {confirmedAt === null ? null : (
        <Fact label={t('operation.confirmedBy')} foot={at(confirmedAt)}>
          {confirmedBy}
        </Fact>
      )}
      {operation.reviewedBy === null ? null : (
        <Fact label={t('operation.reviewedBy')} foot={operation.reviewReason ?? undefined}>
          {operation.reviewedBy}
        </Fact>
      )}
      {confirmedAt === null || endedAt === null ? null : (
        <Fact label={t('operation.took')} foot={at(endedAt)}>
          {formatSeconds(Date.parse(endedAt) - Date.parse(confirmedAt))}
        </Fact>
      )}
    </Facts>
  );
}
