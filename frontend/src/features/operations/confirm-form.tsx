import { Checkbox, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import { Panel } from '@/components/panel';
import { useIsBeyondRisk } from '@/components/permissions';
import { WriteButton } from '@/components/write-button';
import { formatSeconds } from '@/lib/format';
import { newKey } from '@/lib/idempotency-key';
import classes from './confirm-form.module.css';
import { type Given, type Missing, missingFor, type Operation } from './operation';
import { confirmOperation } from './operation-queries';

const reasonLengthMax = 500;

/** Has a plan carried out, once all is given that the gate of its risk class asks for. */
export function ConfirmForm({ operation }: { operation: Operation }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const confirm = useMutation(confirmOperation(client, operation.id));
  const [given, setGiven] = useState<Given>({ typedName: '', reason: '', acceptsLoss: false });
  const [isTried, setIsTried] = useState(false);
  const { plan, target } = operation;
  const { gate } = plan;
  const isBeyond = useIsBeyondRisk(plan.risk);
  const missing = missingFor(gate, target, given);
  const note = (one: Missing) =>
    isTried && missing.includes(one) ? t(`confirm.missing.${one}`, { target }) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsTried(true);
    if (missing.length === 0) confirm.mutate({ given, key: newKey() });
  };
  return (
    <Panel title={t('confirm.title')} aside={plan.riskLabel}>
      <form className={classes.form} onSubmit={submit} noValidate>
        {gate.needsName ? (
          <div className={classes.fields}>
            <TextInput
              label={t('confirm.name', { target })}
              value={given.typedName}
              onChange={(event) => setGiven({ ...given, typedName: event.currentTarget.value })}
              error={note('name')}
              autoComplete="off"
              spellCheck={false}
              required
              withAsterisk={false}
              data-act
            />
            <TextInput
              label={t('confirm.reason')}
              value={given.reason}
              onChange={(event) => setGiven({ ...given, reason: event.currentTarget.value })}
              error={note('reason')}
              maxLength={reasonLengthMax}
              autoComplete="off"
              required
              withAsterisk={false}
            />
          </div>
        ) : null}
        {gate.needsLossAccepted ? (
          <Checkbox
            label={t('confirm.loss', { loss: plan.loss })}
            checked={given.acceptsLoss}
            onChange={(event) => setGiven({ ...given, acceptsLoss: event.currentTarget.checked })}
            error={note('loss')}
          />
        ) : null}
        {confirm.error ? (
          <ErrorNotice
            error={confirm.error}
            onRetry={() => confirm.variables && confirm.mutate(confirm.variables)}
          />
        ) : null}
        <div className={classes.end}>
          <WriteButton
            type="submit"
            refusal={isBeyond ? t('refused.risk') : undefined}
            size="sm"
            data-act
            loading={confirm.isPending}
            color={colour(plan.risk)}
          >
            {t('confirm.run')}
          </WriteButton>
          {gate.holdMs > 0 ? (
            <span>{t('confirm.hold', { span: formatSeconds(gate.holdMs) })}</span>
          ) : null}
          <span className={classes.command}>
            {t('confirm.command')} <code>regent operation confirm {operation.id}</code>
          </span>
        </div>
      </form>
    </Panel>
  );
}

function colour(risk: Operation['plan']['risk']): string {
  return risk === 'LOSS' ? 'red' : 'teal';
}
