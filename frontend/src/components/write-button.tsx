import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentPropsWithoutRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type Permission, useRefusal } from './permissions';

type WriteButtonProps = ButtonProps &
  Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps> & {
    /** What the control plane will ask for. */
    needs?: Permission;
    /** Another reason why the user may not do it. */
    refusal?: string | undefined;
    'data-act'?: boolean;
    'data-autofocus'?: boolean;
  };

/** A button that changes something: disabled, with the reason, for users who may not do it. */
export function WriteButton({ needs = 'change', refusal, ...rest }: WriteButtonProps) {
  const { t } = useTranslation();
  const lacking = useRefusal(needs) ?? refusal;
  if (lacking === undefined) return <Button {...rest} />;
  const reason = t('refused.why', { why: lacking });
  return <Button {...rest} disabled title={reason} aria-description={reason} />;
}
