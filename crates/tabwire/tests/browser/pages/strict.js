watch(document, 'click');
