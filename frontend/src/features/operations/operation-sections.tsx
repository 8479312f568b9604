import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Staleness } from '@/lib/staleness';
import { useNow } from '@/lib/use-now';
import { ConfirmForm } from './confirm-form';
import type { Operation, Steering } from './operation';
import { OperationFacts } from './operation-facts';
import { OperationNotice } from './operation-notice';
import { operationFactsOf } from './operation-queries';
import classes from './operation-sections.module.css';
import { PlanView } from './plan-view';
import { ReadBackTable } from './read-back-table';
import { isVoid, standingOf } from './standing';

type OperationSectionsProps = {
  operation: Operation;
  staleness: Staleness;
  /** The button of what is best done next. */
  offer: (steering: Steering) => ReactNode;
};

/** An operation from its plan to its outcome, region by region. */
export function OperationSections({ operation, staleness, offer }: OperationSectionsProps) {
  const { t } = useTranslation();
  const nowMs = useNow();
  const isPlanned = operation.state === 'PLANNED';
  const facts = useQuery({ ...operationFactsOf(operation.id), enabled: isPlanned });
  const moved = (isPlanned ? facts.data?.data.operation.movedFact : null) ?? null;
  const standing = standingOf(operation, moved, nowMs);
  const isVoided = isVoid(operation, moved, nowMs);
  return (
    <>
      {standing ? (
        <OperationNotice
          standing={standing}
          isStale={staleness.isStale}
          action={standing.offer ? offer(standing.offer) : null}
        />
      ) : null}
      <OperationFacts operation={operation} />
      {operation.reason === null ? null : (
        <p className={classes.reason}>
          <strong>{t('operation.reason')}</strong> {operation.reason}
        </p>
      )}
      {operation.readBack.length > 0 ? (
        <ReadBackTable readBack={operation.readBack} isStale={staleness.isStale} />
      ) : null}
      <PlanView operation={operation} isStale={staleness.isStale} isVoid={isVoided} />
      {operation.actions.includes('CONFIRM') && !isVoided ? (
        <ConfirmForm operation={operation} />
      ) : null}
      {operation.whyNotUndo === null ? null : (
        <p className={classes.reason}>
          <strong>{t('operation.whyNotUndo')}</strong> {operation.whyNotUndo}
        </p>
      )}
    </>
  );
}
