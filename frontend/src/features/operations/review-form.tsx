import { TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import { Panel } from '@/components/panel';
import { useIsBeyondRisk } from '@/components/permissions';
import { WriteButton } from '@/components/write-button';
import { newKey } from '@/lib/idempotency-key';
import classes from './confirm-form.module.css';
import type { Operation } from './operation';
import { type Review, reviewOperation } from './operation-queries';

const reasonLengthMax = 500;

/** Takes the second person's word on a confirmed operation: the operation goes on, or ends. */
export function ReviewForm({ operation }: { operation: Operation }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const isBeyond = useIsBeyondRisk(operation.plan.risk);
  const review = useMutation(reviewOperation(client, operation.id));
  const [reason, setReason] = useState('');
  const [isRefused, setIsRefused] = useState(false);
  const give = (word: Review['word']) => {
    // A refusal without a reason helps no reader.
    const isMissing = word === 'DECLINE' && reason.trim() === '';
    setIsRefused(isMissing);
    if (!isMissing) review.mutate({ word, reason, key: newKey() });
  };
  return (
    <Panel
      title={t('review.title')}
      aside={t('review.confirmedBy', { name: operation.confirmedBy })}
    >
      {/* Enter may end a reason to decline as well as one to approve, so it chooses neither. */}
      <form className={classes.form} onSubmit={(event) => event.preventDefault()} noValidate>
        <TextInput
          label={t('review.reason')}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={isRefused && reason.trim() === '' ? t('review.missing') : undefined}
          maxLength={reasonLengthMax}
          autoComplete="off"
          data-act
        />
        {review.error ? (
          <ErrorNotice
            error={review.error}
            onRetry={() => review.variables && review.mutate(review.variables)}
          />
        ) : null}
        <div className={classes.end}>
          <WriteButton
            size="sm"
            loading={review.isPending}
            refusal={isBeyond ? t('refused.risk') : undefined}
            onClick={() => give('APPROVE')}
          >
            {t('review.approve')}
          </WriteButton>
          <WriteButton
            size="sm"
            variant="default"
            disabled={review.isPending}
            onClick={() => give('DECLINE')}
          >
            {t('review.decline')}
          </WriteButton>
          <span className={classes.command}>
            {t('confirm.command')} <code>regent operation approve {operation.id}</code>
          </span>
        </div>
      </form>
    </Panel>
  );
}
