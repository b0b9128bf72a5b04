/**
 * Readers of arguments that are more than a type; the generated contracts name them.
 */

export { formFields } from '../driver/input/form-fields';
export { fileFacts } from '../driver/input/uploads';
export { urlPatterns } from '../driver/network/mocks';
